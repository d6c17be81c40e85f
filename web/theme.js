// Light or dark, before anything is drawn: what was chosen here, otherwise what the system says.
{
  const chosen = localStorage.getItem("agon.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
