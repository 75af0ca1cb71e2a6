/**
 * Elements of charts, made from plain values.
 *
 * Invariants: text is text: nothing foreign becomes markup.
 * Not here: controls and lists of a page, which are components (controls.tsx).
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
