/** Registers the element `<voxledger-listen>`. */

import { defineListenElement } from "./listen-element.ts";

defineListenElement();
