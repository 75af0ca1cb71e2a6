/** An editor shows the description of an option of a shipped strategy or plugin, from its declarations. */
import { expect, it } from "vitest";
import { withOptionDocstrings } from "../../../src/cli/option-docstrings.mjs";

const declarations = `declare const _default: ((options: {
    readonly channels: Readonly<Record<string, object>>;
} & {
    readonly heartbeat?: {
        readonly url: string;
        readonly plain?: boolean;
    };
    readonly title?: string;
}, naming?: import("sluice").Naming) => import("sluice").Plugin) & {
    readonly definition: {
        readonly title: string;
    };
};
export declare const other: {
    readonly title: string;
};
`;

const schema = {
  properties: {
    channels: { description: "Ways to people." },
    heartbeat: { description: "Called at */5.", properties: { url: { description: "Address." }, plain: {} } },
    title: { description: "Name in messages." },
  },
};

it("Each option that a schema describes gets its description as a docstring, inner ones too, and nothing else does", () => {
  expect(withOptionDocstrings(declarations, { _default: schema })).toBe(`declare const _default: ((options: {
    /** Ways to people. */
    readonly channels: Readonly<Record<string, object>>;
} & {
    /** Called at * /5. */
    readonly heartbeat?: {
        /** Address. */
        readonly url: string;
        readonly plain?: boolean;
    };
    /** Name in messages. */
    readonly title?: string;
}, naming?: import("sluice").Naming) => import("sluice").Plugin) & {
    readonly definition: {
        readonly title: string;
    };
};
export declare const other: {
    readonly title: string;
};
`);
});

it("Declarations without a known definition stay as they are", () => {
  expect(withOptionDocstrings(declarations, {})).toBe(declarations);
});
