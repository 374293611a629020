import { execFile } from 'node:child_process'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { goneWithThisProcess } from './scratch.js'

/** Where the programs of the tests are started. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let made: Promise<unknown> | undefined

/** Makes the programs that users run, unless they are made already, and answers where one of them lies. */
export const compiled = async (name: 'main' | 'cli'): Promise<string> => {
  await (made ??= promisify(execFile)(process.execPath, ['compile.mjs'], { cwd: ROOT }))
  return `dist/src/${name}.js`
}

const bundles = new Map<string, Promise<string>>()

/**
 * Makes one file of a program of the tests, given by its path from the root, and answers where it lies. Node loads it in a
 * fraction of the time that it takes to load each source file on its own.
 */
export const bundled = (program: string): Promise<string> => {
  const made = bundles.get(program) ?? bundle(program)
  bundles.set(program, made)
  return made
}

const bundle = async (program: string): Promise<string> => {
  // Below the root, so that packages are found.
  const outfile = goneWithThisProcess(
    join(ROOT, 'dist/test', `${process.pid}-${basename(program, '.ts')}.js`),
  )
  await build({
    entryPoints: [join(ROOT, program)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  })
  return outfile
}
