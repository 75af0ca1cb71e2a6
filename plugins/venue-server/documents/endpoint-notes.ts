/**
 * Notes on each endpoint for documents: its purpose, its description, and the assumed rows on which it depends.
 *
 * Invariants: facts of the description are in `says`; everything else is a row of the profile, named by its path.
 * Not here: methods, paths, weights, schemas (endpoints.ts), the assumptions' values and reasons (profile.ts).
 */
import { type Contract, type EndpointName, profileRows } from "sluice/dialect";

type Tag = "Account" | "Market" | "Trade";

interface EndpointNote {
  readonly summary: string;
  readonly tag: Tag;
  readonly says: string;
  /** Paths of profile rows, such as `weights.getOrder`. */
  readonly assumes: readonly string[];
}

const everyCall = [
  "answers.badRequestStatus",
  "answers.badRequestCode",
  "answers.limitedCode",
  "answers.unknownParameter",
  "limits.headersOnError",
  "limits.headersWithoutKey",
] as const;
const signedCall = [...everyCall, "answers.authStatus", "answers.permissionStatus"] as const;
const orderWords = [
  "order.sides",
  "order.ordTypes",
  "order.szUnit",
  "order.emptyDecimal",
  "order.timeUnit",
  "order.feeSign",
] as const;
const pages = [
  "paging.newestFirst",
  "paging.cursorIncluded",
  "paging.afterAndBefore",
  "paging.beforePage",
  "paging.limitAboveMax",
] as const;

export const endpointNotes: Readonly<Record<EndpointName, EndpointNote>> = {
  instruments: {
    summary: "Get instruments",
    tag: "Market",
    says: "The complete list of tradable instruments and their ids. The list differs between mainnet and testnet; fetch it at start.",
    assumes: [
      "instruments.needsKey",
      "instruments.chargesUserWithoutKey",
      "instruments.fieldNames",
      "instruments.instIdPattern",
      ...everyCall,
    ],
  },
  amendOrder: {
    summary: "Change an order",
    tag: "Trade",
    says: "The description names no such call.",
    assumes: ["capabilities.amend", "weights.amendOrder", "permissions.placeSwap", ...orderWords, ...signedCall],
  },
  spotBalance: {
    summary: "Get spot account balance",
    tag: "Account",
    says: "The description names this endpoint by method, path and weight only.",
    assumes: ["permissions.account", ...signedCall],
  },
  positions: {
    summary: "Get positions",
    tag: "Account",
    says: "The description names this endpoint by method, path and weight only.",
    assumes: ["permissions.account", "order.szUnit", "order.timeUnit", ...signedCall],
  },
  getOrder: {
    summary: "Get order details",
    tag: "Trade",
    says: "Either ordId or clOrdId must be provided; when both are sent, ordId takes priority. instId helps to find the order faster.",
    assumes: [
      "weights.getOrder",
      "answers.notFound",
      "answers.notFoundCode",
      "answers.orderErrorStatus",
      ...orderWords,
      ...signedCall,
    ],
  },
  pendingOrders: {
    summary: "Get pending orders",
    tag: "Trade",
    says: "All active orders: live or partially_filled.",
    assumes: ["weights.pendingOrders", ...pages, ...orderWords, ...signedCall],
  },
  orderHistory: {
    summary: "Get order history",
    tag: "Trade",
    says: "Recently completed orders: filled or canceled.",
    assumes: [
      "weights.orderHistory",
      "history.retentionMs",
      "history.ordersMax",
      "history.unfilledCanceledVanish",
      ...pages,
      ...orderWords,
      ...signedCall,
    ],
  },
  placeOrder: {
    summary: "Place an order",
    tag: "Trade",
    says: "The description names this endpoint by method, path and weight only.",
    assumes: [
      "permissions.placeSwap",
      "permissions.placeSpot",
      "order.szUnit",
      "order.sides",
      "order.ordTypes",
      "order.clOrdIdPattern",
      "order.duplicateClOrdId",
      "answers.orderErrorStatus",
      "cancelBatch.resultFields",
      ...signedCall,
    ],
  },
  cancelBatch: {
    summary: "Cancel batch orders",
    tag: "Trade",
    says: "Cancels one or more open contract orders. The data array corresponds element by element to the request array and gives the result of each attempt.",
    assumes: [
      "cancelBatch.elementsMax",
      "cancelBatch.oneIdKind",
      "cancelBatch.resultFields",
      "cancelBatch.envelopeCodeWhenMixed",
      "cancelBatch.envelopeCodeWhenAllFailed",
      "weights.perCancelElement",
      "capabilities.cancelSpot",
      ...signedCall,
    ],
  },
  closePosition: {
    summary: "Close a position",
    tag: "Trade",
    says: "The description names this endpoint by method, path and weight only.",
    assumes: ["permissions.closePosition", "answers.positionCode", "answers.orderErrorStatus", ...signedCall],
  },
  setLeverage: {
    summary: "Set leverage",
    tag: "Account",
    says: "The description names this endpoint by method, path and weight only.",
    assumes: ["permissions.setLeverage", "answers.leverageCode", "answers.orderErrorStatus", ...signedCall],
  },
};

/** Rows of the profile as a list for people: value in force, gap, and whether the user stated it or it is assumed. */
export const assumptionLines = ({ profile, stated }: Contract, paths: readonly string[]): readonly string[] => {
  const groups = profile as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return profileRows()
    .filter(({ path }) => paths.includes(path))
    .map(({ path, gap, why }) => {
      const [group = "", key = ""] = path.split(".");
      return `- \`${path}\` = \`${JSON.stringify(groups[group]?.[key])}\` (${gap}, ${stated(path) ? "stated by the profile" : "assumed"}): ${why}`;
    });
};
