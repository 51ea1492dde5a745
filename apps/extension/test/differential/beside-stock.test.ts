import { compareLakes } from "./compare-lakes.js";

compareLakes(1);
