// Light or dark, before anything is drawn: what was chosen here, otherwise what the system says.
try {
  const chosen = localStorage.getItem("agon.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing: what the system says.
}
