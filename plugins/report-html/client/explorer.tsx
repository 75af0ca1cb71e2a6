/**
 * The charts of a report, the bar above them, and the tip of the fill that is looked at.
 *
 * Invariants: what can be done with a pointer can be done with keys.
 * Not here: what is shown (exploration.ts).
 */
import { ChartStage } from "../../ui-kit/client/chart-stage.tsx";
import { Tip } from "../../ui-kit/client/story.tsx";
import { takeKey } from "../../ui-kit/client/view.ts";
import type { Exploration } from "./exploration.ts";
import { Toolbar } from "./toolbar.tsx";

const help =
  "Arrow keys pan, with Shift further; plus and minus zoom; 0 shows all; N and P go to the next and the previous fill; Enter zooms to the selected fill; Escape clears the selection.";

export const Explorer = ({ of }: { of: Exploration }) => {
  const takeKeys = (event: KeyboardEvent) => {
    const own = {
      n: () => of.step(1),
      p: () => of.step(-1),
      escape: () => of.letGo(),
      enter: () => of.zoomToFill(),
    }[event.key.toLowerCase()];
    if (own === undefined || event.ctrlKey || event.metaKey) return takeKey(event, of.view);
    own();
    return true;
  };
  return (
    <>
      <Toolbar of={of} />
      <div class="stage">
        <ChartStage
          id="charts"
          label={`Charts. ${help}`}
          view={of.view}
          charts={of.charts.value}
          span={of.span}
          at={of.at}
          theme={of.theme}
          takeKey={takeKeys}
        />
        <Tip told={of.tip.value} plot={of.price.plot} said={(story) => of.tell(story)} />
      </div>
      <div class="unseen" role="status" aria-live="polite">
        {of.announced}
      </div>
      <p class="soft keys">{help}</p>
    </>
  );
};
