import type { Principal } from '@decorum/core';

export declare function tokenOf(principal: Principal | undefined): string;
