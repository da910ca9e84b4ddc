/* Light or dark: as the system has it, until somebody presses the button. */
const root = document.documentElement;
const button = document.querySelector(".theme");
const system = matchMedia("(prefers-color-scheme: dark)");

const remembered = () => {
  try {
    return localStorage.getItem("onward-theme");
  } catch {
    return null; // a file opened from disk may have no storage
  }
};

const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

const say = () => {
  button.textContent = dark() ? "light" : "dark";
  button.setAttribute("aria-label", dark() ? "show on light paper" : "show on dark paper");
};

const chosen = remembered();
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
say();
system.addEventListener("change", say);
button.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  say();
  try {
    localStorage.setItem("onward-theme", root.dataset.theme);
  } catch {
    // then it is forgotten
  }
});
