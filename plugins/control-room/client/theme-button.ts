/**
 * The button that turns light to dark and back.
 *
 * Invariants: until it is pressed the page follows the system; a choice is kept in this browser.
 */
import { button } from "../../ui-kit/client/elements.ts";

const kept = "sluice-theme";
const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset["theme"] ?? (prefersDark.matches ? "dark" : "light")) === "dark";

export const themeButton = (changed: () => void) => {
  const before = localStorage.getItem(kept);
  if (before === "light" || before === "dark") root.dataset["theme"] = before;
  const toggle = button("", "", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    localStorage.setItem(kept, root.dataset["theme"]);
    update();
  });
  const update = () => {
    toggle.textContent = isDark() ? "☀" : "☾";
    toggle.setAttribute("aria-label", `use ${isDark() ? "light" : "dark"} colours`);
    toggle.title = `use ${isDark() ? "light" : "dark"} colours`;
    changed();
  };
  prefersDark.addEventListener("change", update);
  // The elements that the change updates may not exist yet.
  queueMicrotask(update);
  return toggle;
};
