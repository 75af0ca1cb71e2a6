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

export const button = (text: string, label: string, act: () => void, attributes: Record<string, string> = {}) => {
  const made = element(
    "button",
    { type: "button", ...(label === text ? {} : { "aria-label": label, title: label }), ...attributes },
    text,
  );
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
