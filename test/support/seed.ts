/** One seed for every property test that does not state its own. */
import fc from "fast-check";

fc.configureGlobal({ seed: 20_260_101 });
