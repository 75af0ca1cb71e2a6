/**
 * Compares pages with reference pictures, which are stored reduced: their layout, colours and charts stay, while the
 * shapes of letters, which differ between machines, do not.
 *
 * `PICTURES=write` takes the pictures anew; look at them before they are committed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

/** Stored pictures have a quarter of the width, and at least this one, in pixels. */
const widthMin = 130;
/** A pixel differs from this distance of a channel on. */
const channelMax = 60;

/** Reduces a picture, and counts the share of its pixels that differ from the reference. */
const compared = `async ([picture, reference]) => {
  const load = async (source) => {
    const image = new Image();
    image.src = "data:image/png;base64," + source;
    await image.decode();
    return image;
  };
  const taken = await load(picture);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(${widthMin}, Math.round(taken.width / 4));
  canvas.height = Math.round((taken.height * canvas.width) / taken.width);
  const pencil = canvas.getContext("2d", { willReadFrequently: true });
  pencil.imageSmoothingQuality = "high";
  pencil.drawImage(taken, 0, 0, canvas.width, canvas.height);
  const reduced = canvas.toDataURL("image/png").split(",")[1];
  if (reference === "") return { reduced, share: 0 };
  const known = await load(reference);
  if (known.width !== canvas.width || known.height !== canvas.height) return { reduced, share: 1 };
  const one = pencil.getImageData(0, 0, canvas.width, canvas.height).data;
  pencil.drawImage(known, 0, 0);
  const other = pencil.getImageData(0, 0, canvas.width, canvas.height).data;
  let different = 0;
  for (let at = 0; at < one.length; at += 4) {
    const distance = Math.max(...[0, 1, 2].map((channel) => Math.abs(one[at + channel] - other[at + channel])));
    if (distance > ${channelMax}) different++;
  }
  return { reduced, share: different / (one.length / 4) };
}`;

/** Returns the share of a page's visible part that differs from the reference, 0 to 1. */
export const differenceFrom = async (page: Page, file: URL): Promise<number> => {
  const picture = (await page.screenshot({ animations: "disabled", caret: "hide" })).toString("base64");
  const isWritten = process.env["PICTURES"] === "write";
  const reference = isWritten || !existsSync(file) ? undefined : readFileSync(file, "base64");
  // A page of its own: policies of the other may forbid pictures from data.
  const blank = await (page.context().browser() as Browser).newPage();
  const given = JSON.stringify([picture, reference ?? ""]);
  const { reduced, share } = (await blank.evaluate(`(${compared})(${given})`)) as { reduced: string; share: number };
  await blank.close();
  if (reference !== undefined) return share;
  if (!isWritten)
    throw new Error(`${file.pathname} is missing. Run the test with PICTURES=write and look at what it wrote.`);
  mkdirSync(new URL("./", file), { recursive: true });
  writeFileSync(file, Buffer.from(reduced, "base64"));
  return 0;
};

/** Share of a page that may differ: ages and clocks move, and fonts are those of the machine. */
export const differenceMax = 0.03;
