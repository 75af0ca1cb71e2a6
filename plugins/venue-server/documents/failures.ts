/**
 * The ways a call fails, grouped by the HTTP status the profile gives them, and the envelope they share.
 *
 * Invariants: pure; a group is one status; endings with status 200 are no group, as they share the row of success.
 * Not here: the answers of a service (venue/responses.ts), their use by a client (gateway/).
 */
import { type Contract, limitedStatus, type Profile } from "sluice/dialect";
import type { Json } from "./published.ts";

type FailureName = "BadRequest" | "Unauthenticated" | "Forbidden" | "TooLarge" | "Limited" | "Refused";

/** Status of an answer to a body that is larger than the server reads. */
export const tooLargeStatus = 413;

interface FailureKind {
  readonly name: FailureName;
  readonly status: (profile: Profile) => number;
  readonly code: (profile: Profile) => string;
  readonly says: string;
}

const kinds: readonly FailureKind[] = [
  {
    name: "BadRequest",
    status: ({ answers }) => answers.badRequestStatus,
    code: ({ answers }) => answers.badRequestCode,
    says: "Parameters are missing or malformed.",
  },
  {
    name: "Unauthenticated",
    status: ({ answers }) => answers.authStatus,
    code: ({ answers }) => answers.authCode,
    says: "The key is unknown, the signature wrong or the timestamp stale.",
  },
  {
    name: "Forbidden",
    status: ({ answers }) => answers.permissionStatus,
    code: ({ answers }) => answers.permissionCode,
    says: "The key lacks the permission.",
  },
  {
    name: "TooLarge",
    status: () => tooLargeStatus,
    code: ({ answers }) => answers.badRequestCode,
    says: "The body is larger than the server reads.",
  },
  {
    name: "Limited",
    status: () => limitedStatus,
    code: ({ answers }) => answers.limitedCode,
    says: "A rate-limit layer is exceeded.",
  },
  {
    name: "Refused",
    status: ({ answers }) => answers.orderErrorStatus,
    code: ({ answers }) => answers.parameterCode,
    says: "Refused by the rules of trading.",
  },
];

export interface FailureGroup {
  /** Name of the first kind. */
  readonly name: FailureName;
  readonly status: number;
  readonly code: string;
  readonly says: string;
  readonly kinds: readonly FailureName[];
}

export const failureGroups = ({ profile }: Contract): readonly FailureGroup[] => {
  const groups = new Map<number, FailureGroup>();
  for (const { name, status: statusOf, code, says } of kinds) {
    const status = statusOf(profile);
    const group = groups.get(status);
    if (group !== undefined)
      groups.set(status, { ...group, says: `${group.says} ${says}`, kinds: [...group.kinds, name] });
    else if (status !== 200) groups.set(status, { name, status, code: code(profile), says, kinds: [name] });
  }
  return [...groups.values()];
};

const dataSchemas = { array: { type: "array", items: {} }, object: { type: "object" }, absent: undefined } as const;

export const failureSchema = ({ profile }: Contract): Json => {
  const data = dataSchemas[profile.answers.dataOnError];
  return {
    type: "object",
    required: ["code", "msg"],
    description: "A failure has the same envelope.",
    properties: {
      code: { type: "string", pattern: "^(?!0$).+$", description: 'Any text but "0".' },
      msg: { type: "string" },
      ...(data && { data }),
    },
  };
};

export const failureExample = ({ answers }: Profile, code: string, msg: string): Json => ({
  code,
  msg,
  ...{ array: { data: [] }, object: { data: {} }, absent: {} }[answers.dataOnError],
});
