// Light or dark, before anything is drawn: the user's choice, otherwise the system's.
try {
  const chosen = localStorage.getItem("agon.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser without storage uses the system's choice.
}
