export interface Columns {
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}
export interface Money {
  readonly trades: number;
  readonly position: string;
  readonly fees: string;
  readonly profit: string;
}
export declare const barMs: number;
export declare const startAt: number;
export declare const makeBars: (rows: number) => Columns;
export declare const turned: (columns: Columns, options: { readonly unit: number; readonly takerBps: number }) => Money;
