/** Rule for the first line of a commit message: `area: imperative in plain words`. */

const lengthMax = 72;
const shape = /^[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*: \S/;
const otherForms = /: (?:\w+(?:ed|ing)|adds|fixes|makes|moves|removes|updates|uses)\b/i;
// These end like other forms and are imperatives.
const imperatives = /: (?:bring|embed|exceed|feed|need|proceed|read|seed|shed|speed|spread|string|succeed)\b/i;

/**
 * Problem of a commit title in words; undefined where there is none. Titles that git writes for merges and reverts, and
 * `fixup!` commits, pass.
 *
 * @param {string} title
 * @returns {string | undefined}
 */
export const problemOfTitle = (title) => {
  if (/^(?:Merge|Revert) |^(?:fixup|squash)! /.test(title)) return undefined;
  if (title.length > lengthMax) return `it has ${title.length} characters, at most ${lengthMax}`;
  if (!shape.test(title))
    return 'write "area: imperative in plain words", such as "venue: keep orders of equal prices in order"';
  if (title.endsWith(".")) return "leave out the full stop";
  if (otherForms.test(title) && !imperatives.test(title))
    return 'begin with an imperative: "add", not "adds", "added" or "adding"';
  return undefined;
};
