/**
 * Error codes of OKX v5, by their meaning for a call.
 *
 * Invariants: a code is a rejection only if its documented text states that the order or call failed for a reason that
 * is checked before execution; timeouts ("does not mean that the request was successful or failed"), busy systems and
 * ids already in use are not rejections.
 * Source: public documentation of OKX v5, "Error Code".
 */

/**
 * 50011 "Rate limit reached", also with HTTP 200; 50061 "You've reached the maximum order rate limit for this account".
 */
const limited: readonly string[] = ["50011", "50061"];
/** The key, its signature, its environment or its address is not accepted. */
const unauthorised: readonly string[] = [
  ...[
    "50100",
    "50101",
    "50102",
    "50103",
    "50104",
    "50105",
    "50106",
    "50107",
    "50108",
    "50109",
    "50110",
    "50111",
    "50112",
    "50113",
    "50114",
  ],
  ...["50119", "50121"],
];
/** The key may not do this. */
const forbidden: readonly string[] = ["50030", "50035", "50120"];
/** Unavailable, timed out, busy (with status 429), system error: it is unknown whether the call was executed. */
const unavailable: readonly string[] = ["50001", "50004", "50013", "50026", "51054", "51149", "51412"];

const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({ 429: limited, 401: unauthorised, 403: forbidden, 503: unavailable }).flatMap(([status, codes]) =>
    codes.map((code) => [code, Number(status)] as const),
  ),
);

/** Returns the status with which the described service answers the meaning of this code. */
export const okxStatusOf = (code: string): number | undefined => statuses.get(code);

/** Codes besides those of the profile's own rows that mean: judged and not executed. */
export const okxRejections: readonly string[] = [
  // Missing, contradicting or malformed parameters; accounts that may not trade.
  ...[
    "50000",
    "50002",
    "50006",
    "50014",
    "50015",
    "50016",
    "50024",
    "50025",
    "50007",
    "50008",
    "50009",
    "50012",
    "50017",
    "50019",
    "50020",
  ],
  ...[
    "50022",
    "50023",
    "50027",
    "50028",
    "50029",
    "50032",
    "50033",
    "50038",
    "50041",
    "50044",
    "50051",
    "50052",
    "50059",
    "50060",
    "50067",
  ],
  // Instruments that are unknown, suspended, expired or being settled.
  ...[
    "51002",
    "51003",
    "51010",
    "51015",
    "51021",
    "51022",
    "51024",
    "51027",
    "51028",
    "51029",
    "51030",
    "51155",
    "54007",
    "54072",
  ],
  // Sizes and numbers of orders.
  ...[
    "51004",
    "51005",
    "51007",
    "51009",
    "51025",
    "51033",
    "51037",
    "51101",
    "51102",
    "51103",
    "51104",
    "51105",
    "51106",
    "51107",
    "51108",
  ],
  ...[
    "51120",
    "51121",
    "51150",
    "51174",
    "51185",
    "51186",
    "51187",
    "51201",
    "51202",
    "51203",
    "51207",
    "54030",
    "54031",
    "54035",
  ],
  // Prices.
  ...["51031", "51110", "51116", "51122", "51124", "51135", "51136", "51137", "51138", "51204"],
  // Funds.
  ...["51017", "51119", "51127", "51129", "51131", "51132"],
  // Positions and orders that only reduce.
  ...[
    "51043",
    "51111",
    "51112",
    "51117",
    "51134",
    "51139",
    "51148",
    "51169",
    "51170",
    "51205",
    "51206",
    "51209",
    "51211",
    "51341",
  ],
  // Cancels of orders that are over, or that cannot be canceled.
  ...["51401", "51402", "51403", "51404", "51407", "51408", "51409", "51410", "51413", "51416"],
  // Changes of orders that are over, or that change nothing.
  ...["51500", "51502", "51503", "51505", "51508", "51509", "51510", "51511", "51512"],
  // Leverage.
  ...["59100", "59101", "59103", "59104", "59105", "59106", "59107", "59108", "59109"],
];
