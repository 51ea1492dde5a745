/** Made by the set-up, and not by the compiler, for which there may be none. */
declare module "*/dist/bundle/main.mjs";
declare module "*/dist/bundle/thread.mjs";
