/**
 * Report of deprecated endpoints, by the headers Deprecation and Sunset: once for each endpoint.
 *
 * Invariants: answers are passed on unchanged; the header's value is reported as shortened text.
 */
import type { EndpointName } from "../../contract/endpoints.ts";
import { type Interceptor, observing, type WireResponse } from "../../contract/transport.ts";
import type { OnAnomaly } from "../transport/socket-channel.ts";

const textMax = 60;

export const noteEndings = (note: OnAnomaly): Interceptor => {
  const reported = new Set<EndpointName>();
  return (next) => (request, sink) => {
    const onResponse = ({ headers }: WireResponse): void => {
      const { endpoint, method, path } = request;
      const { sunset, deprecation } = headers;
      if ((sunset === undefined && deprecation === undefined) || reported.has(endpoint)) return;
      reported.add(endpoint);
      const until = sunset === undefined ? "" : `; it ends ${sunset.slice(0, textMax)}`;
      note(
        "endpoint.deprecated",
        `${method} ${path} is deprecated by the service${until}. Look for a newer version of the interface.`,
      );
    };
    next(request, observing(sink, onResponse));
  };
};
