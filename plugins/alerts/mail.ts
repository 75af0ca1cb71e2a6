/**
 * Mail over SMTP, by the package nodemailer.
 *
 * Invariants: the password is sent over TLS only, unless the server is this machine; a server that does not answer is
 * left at the signal; a code of 5xx is a refusal, everything else is worth another attempt.
 */
import type { RequirePackage } from "sluice/extension";
import type { Channel, Delivery } from "./outbox.ts";

interface Transporter {
  sendMail(mail: object): Promise<{ readonly accepted: readonly unknown[]; readonly rejected: readonly unknown[] }>;
  close(): void;
}
interface Nodemailer {
  createTransport(options: object): Transporter;
}

export interface MailOptions {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: TLS from the first byte (465); `starttls`: required before anything else (587); `none`: for this
   * machine.
   */
  readonly tls: "implicit" | "starttls" | "none";
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
}

export const mail = (
  { host, port, tls, user, password, from, to }: MailOptions,
  answerMs: number,
  hide: (text: string) => string,
  requirePackage: RequirePackage,
): Channel => {
  const nodemailer = requirePackage<Nodemailer>("nodemailer", "10", import.meta.url);
  const make = (): Transporter =>
    nodemailer.createTransport({
      host,
      port,
      secure: tls === "implicit",
      requireTLS: tls === "starttls",
      ignoreTLS: tls === "none",
      ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
      connectionTimeout: answerMs,
      greetingTimeout: answerMs,
      socketTimeout: answerMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  return {
    textMax: 100_000,
    send: async ({ id, title, level, text, alerts }, signal): Promise<Delivery> => {
      const transporter = make();
      const subject =
        alerts.length === 1
          ? `[${title}] ${level}: ${alerts[0]?.text ?? ""}`
          : `[${title}] ${level}: ${alerts.length} alerts`;
      const sending = transporter
        .sendMail({
          from,
          to: [...to],
          subject: subject.slice(0, 150),
          text,
          headers: { "X-Sluice-Id": id },
          encoding: "quoted-printable",
        })
        .then(
          ({ accepted, rejected }): Delivery => {
            if (accepted.length > 0) return { kind: "taken" };
            return { kind: "refused", why: `no recipient was accepted (${rejected.length} rejected)` };
          },
          (error: unknown) => deliveryOf(error as SmtpError, hide),
        );
      const late = new Promise<Delivery>((resolve) => {
        signal.addEventListener("abort", () => resolve({ kind: "later", why: "no answer in time" }), { once: true });
      });
      const delivery = await Promise.race([sending, late]);
      transporter.close();
      return delivery;
    },
  };
};

interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
}

/** An error text of a server may repeat its input; codes do not. */
const deliveryOf = ({ code = "failed", responseCode }: SmtpError, hide: (text: string) => string): Delivery => {
  const why = hide(responseCode === undefined ? code : `SMTP ${responseCode}`);
  return responseCode !== undefined && responseCode >= 500 ? { kind: "refused", why } : { kind: "later", why };
};
