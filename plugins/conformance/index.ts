/**
 * Tests of a service: the rules of its description, the run that accepts a dialect, and the assumptions of its profile.
 *
 * @module sluice/plugins/conformance
 */
export { type AcceptOptions, accept } from "./acceptance/accept.ts";
export { type DoctorOptions, type DoctorReport, doctor } from "./doctor/doctor-config.ts";
export type { Finding } from "./doctor/finding.ts";
export { type CheckOptions, check } from "./rules/check.ts";
export type { CheckedRule, CheckReport } from "./rules/findings.ts";
