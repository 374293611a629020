import { readFileSync } from 'node:fs'

/** The flags of V8 that the service runs with. */
const serviceFlags: readonly string[] =
  readFileSync(new URL('../../bin/start', import.meta.url), 'utf8').match(/--[a-z-]+=\d+/g) ?? []

/** The same for a program that is not compiled. */
export const flagsBeforeTypeScript = [...serviceFlags, '--import', 'tsx']
