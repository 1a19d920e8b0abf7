// What every part of a page needs: elements by name, new elements, and colours that can be changed.

const $ = (id) => document.getElementById(id);
const embedded = (id) => JSON.parse($(id).textContent);

function make(tag, text, settings = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(settings)) {
    element.setAttribute(name, value);
  }
  return element;
}

// Canvases keep the colours that they were drawn with: what draws on one adds itself here.
const redraws = [];
const redraw = () => redraws.forEach((draw) => draw());

function themeNow() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return document.documentElement.dataset.theme || (dark ? "dark" : "light");
}

function nameTheme() {
  const other = themeNow() === "dark" ? "Light" : "Dark";
  $("theme").textContent = other;
  $("theme").setAttribute("aria-label", `${other} colours`);
}

$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = themeNow() === "dark" ? "light" : "dark";
  nameTheme();
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  nameTheme();
  redraw();
});
nameTheme();
