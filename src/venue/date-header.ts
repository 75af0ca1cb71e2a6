/**
 * `Date` header of the service's answers.
 *
 * Invariants: the text is the platform's own, cut to the second. The platform formats only the day, once a day, because
 * formatting a whole instant takes longer than handling an order.
 */
const dayMs = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));

export class DateHeader {
  #day = Number.NaN;
  #dayText = "";
  #second = Number.NaN;
  #text = "";

  of(now: number): string {
    const second = Math.floor(now / 1_000);
    if (second === this.#second) return this.#text;
    const day = Math.floor(now / dayMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = new Date(day * dayMs).toUTCString().replace("00:00:00 GMT", "");
    }
    const ofDay = second - day * 86_400;
    const minute = Math.floor(ofDay / 60);
    this.#second = second;
    this.#text = `${this.#dayText}${twoDigits[Math.floor(minute / 60)]}:${twoDigits[minute % 60]}:${twoDigits[ofDay % 60]} GMT`;
    return this.#text;
  }
}
