/**
 * The windows of the quota as gauges: the used part by user, the part reserved for exits, and the end of the window.
 *
 * Invariants: one gauge for each layer and scope; parts are distinguished by pattern and words as well as by colour; the
 * sum of the parts is the capacity.
 */
import { useRef } from "preact/hooks";
import { figure } from "../../ui-kit/client/texts.ts";
import type { QuotaRow } from "../control-rows.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { leftText } from "./wording.ts";

const layers: Readonly<Record<string, readonly [name: string, unit: string, windowMs: number]>> = {
  ip: ["address", "requests", 60_000],
  uid: ["user", "weight", 60_000],
  key: ["key", "requests", 1_000],
};

export const unitOf = ({ layer }: QuotaRow) => layers[layer]?.[1] ?? "units";

const percent = (share: number) => ({ width: `${Math.max(0, Math.min(100, 100 * share)).toFixed(1)}%` });

const Gauge = ({ row, now }: { row: QuotaRow; now: number }) => {
  const { layer, scope, capacity, used, reserved, foreign, windowEndsAt } = row;
  const leftMs = windowEndsAt - now;
  /** Length of a window of another service: the longest that was left of one. */
  const longest = useRef(1_000);
  longest.current = Math.max(longest.current, leftMs > 1_500 ? Math.ceil(leftMs / 60_000) * 60_000 : 1_000);
  const lengthMs = layers[layer]?.[2] ?? longest.current;
  // After its end a window is empty, independent of the last update.
  const isOver = leftMs <= 0;
  const [spent, others] = isOver ? [0, 0] : [Math.min(used, capacity), Math.min(foreign, used)];
  const kept = Math.max(0, Math.min(reserved, capacity - spent));
  const parts = [
    ["own", spent - others],
    ["foreign", others],
    ["free", capacity - spent - kept],
    ["reserved", kept],
  ] as const;
  const text = [
    `${figure(spent)} of ${figure(capacity)} ${unitOf(row)} used`,
    ...(others > 0 ? [`${figure(others)} by other clients`] : []),
    ...(row.mode === "floor" ? ["spent evenly, without the service's counts"] : []),
    ...(kept > 0 ? [`${figure(kept)} reserved for exits`] : []),
  ].join(" · ");
  return (
    <div class={`gauge${spent + kept >= capacity ? " full" : ""}`}>
      <div class="head">
        <strong
          title={`${layer} ${scope}`}
        >{`${layers[layer]?.[0] ?? layer}${scope === "" ? "" : ` ${scope}`}`}</strong>
        <span class="left">
          {lengthMs <= 1_500 ? "each second" : isOver ? "new window" : `${leftText(leftMs)} left`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the element has no parts of its own. */}
      <div
        class="gaugebar"
        role="meter"
        aria-label={`${layer} ${scope}`}
        aria-valuemin={0}
        aria-valuemax={capacity}
        aria-valuenow={spent}
        aria-valuetext={text}
      >
        {parts.map(([name, part]) => (
          <i key={name} class={name} style={percent(part / Math.max(1, capacity))} />
        ))}
      </div>
      <div class="timebar" aria-hidden="true">
        <i class="time" style={percent(isOver ? 0 : leftMs / lengthMs)} />
      </div>
      <p class="soft">{text}</p>
    </div>
  );
};

export const QuotaGauges = ({ watched: { state, now } }: { watched: WatchedEngine }) => {
  const rows = [...state.rows("quota")];
  return (
    <div class="gauges">
      {rows.map(([key, row]) => (
        <Gauge key={key} row={row} now={now} />
      ))}
      {rows.length === 0 && <p class="empty">No limits yet: they come with the first response of the service.</p>}
    </div>
  );
};
