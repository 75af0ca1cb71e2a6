/** A node that something else draws, put into the page. */
import { useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

/** @param draw - is called again when a signal has changed that it reads */
export const Drawn = ({ node, draw }: { node: HTMLElement; draw: () => void }) => {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(node), [node]);
  useSignalEffect(draw);
  return <div ref={place} style={{ display: "contents" }} />;
};
