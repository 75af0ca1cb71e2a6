/**
 * Elements of the page, made from plain values.
 *
 * Invariants: text is text: nothing foreign becomes markup.
 */

/** @param attributes - those that are false are left out */
export const element = <T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Record<string, string | boolean>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[T] => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};

/** Words keep the name that is seen, and the label describes them; it is the name of a button that shows a sign. */
const namesOf = (text: string, label: string): Record<string, string> => {
  if (text === label) return {};
  return /\p{L}{2}/u.test(text) ? { title: label } : { "aria-label": label, title: label };
};

export const button = (text: string, label: string, act: () => void, attributes: Record<string, string> = {}) => {
  const made = element("button", { type: "button", ...namesOf(text, label), ...attributes }, text);
  made.addEventListener("click", act);
  return made;
};

export const choice = (
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  act: (value: string) => void,
) => {
  const made = element(
    "select",
    { "aria-label": label },
    ...choices.map(([value, text]) => element("option", { value }, text)),
  );
  made.addEventListener("change", () => act(made.value));
  return made;
};

/** Replaces the choices of a selection where they have changed; what was chosen stays chosen while it is offered. */
export const offer = (select: HTMLSelectElement, choices: readonly (readonly [value: string, text: string])[]) => {
  const known = [...select.options].map(({ value }) => value);
  if (known.join("\n") === choices.map(([value]) => value).join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(...choices.map(([value, text]) => element("option", { value }, text)));
  if (choices.some(([value]) => value === chosen)) select.value = chosen;
};

/** A labelled checkbox. */
export const toggle = (name: string, on: boolean, act: (on: boolean) => void) => {
  const box = element("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("change", () => act(box.checked));
  return element("label", {}, box, name);
};
