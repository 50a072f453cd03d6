type Library = typeof import('oidc-provider');

let loaded: Library | undefined;

/** Loads oidc-provider, which takes longer than all the rest. An application may only want to know its server's tools. */
export async function loadLibrary(): Promise<void> {
  loaded ??= await import('oidc-provider');
}

/** oidc-provider, once it is loaded. */
export function library(): Library {
  if (loaded === undefined) throw new Error('oidc-provider is not loaded.');
  return loaded;
}
