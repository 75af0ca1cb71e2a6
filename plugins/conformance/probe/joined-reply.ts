/**
 * Replies to the parts of one read, put together as the engine puts them together.
 *
 * Invariants: the whole is a success only where every part is; otherwise it is the first part that is none; listings of
 * orders stay newest first and within the limit that was asked for.
 * Not here: which reads have parts (the dialect), asking for them (probe-client.ts).
 */
import { type EndpointName, wire } from "sluice/dialect";
import { isRaw, type Raw, type Reply } from "./reply.ts";

export const joinedReply = (endpoint: EndpointName, input: Raw, parts: readonly Reply[]): Reply => {
  const [first] = parts as [Reply];
  const failed = parts.find(({ ok, envelope }) => !ok || !Array.isArray(envelope["data"]));
  if (failed !== undefined) return failed;
  const last = parts.at(-1) as Reply;
  const data = wire.joinedRecords(
    endpoint,
    input,
    parts.flatMap(({ envelope }) => envelope["data"] as readonly unknown[]),
  );
  const body = { ...first.envelope, data };
  return {
    ...last,
    asked: parts.map(({ asked }) => asked).join(" and "),
    sentAt: first.sentAt,
    body,
    envelope: body,
    records: data.filter(isRaw),
    response: { ...last.response, body },
  };
};
