import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Where the programs of the tests are started. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let made: Promise<unknown> | undefined

/** Makes the programs that users run, unless they are made already, and answers where one of them lies. */
export const compiled = async (name: 'main' | 'cli'): Promise<string> => {
  await (made ??= promisify(execFile)(process.execPath, ['compile.mjs'], { cwd: ROOT }))
  return `dist/src/${name}.js`
}
