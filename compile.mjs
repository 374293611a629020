import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

const TO = 'dist/src'
const MADE_OF = join(TO, 'made-of')
const READ_AT_RUN_TIME = ['projections/schema', 'prices']

/** Tells sources apart as `make` does, by when each was written, and by its name and size. */
const fingerprint = async () => {
  const sources = (await readdir('src', { recursive: true })).map((name) => join('src', name))
  const lines = [...sources, 'compile.mjs', 'package-lock.json', 'tsconfig.json'].sort().map(async (path) => {
    const { size, mtimeMs } = await stat(path)
    return `${path} ${size} ${mtimeMs}`
  })
  return createHash('sha256')
    .update((await Promise.all(lines)).join('\n'))
    .digest('hex')
}

const filesOf = async (folder) =>
  Promise.all(
    (await readdir(join('src', folder))).map(async (name) => ({
      path: join(TO, folder, name),
      contents: await readFile(join('src', folder, name)),
    })),
  )

/** Left alone where it is the same, and whole at any time: another process may be reading it. */
const put = async ({ path, contents }) => {
  const before = await readFile(path).catch(() => undefined)
  if (before?.equals(contents)) return
  await mkdir(dirname(path), { recursive: true })
  const unfinished = join(TO, '..', `${process.pid}-${relative(TO, path).replaceAll(sep, '-')}`)
  await writeFile(unfinished, contents)
  await rename(unfinished, path)
}

/**
 * Makes `dist/src`, which runs, of `src`: a file for each program and a few that they share, as hundreds of small ones
 * take longer to load. Types are checked apart.
 */
const compile = async () => {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: ['src/main.ts', 'src/cli.ts'],
    outdir: TO,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
    write: false,
  })
  const outputs = [...outputFiles, ...(await Promise.all(READ_AT_RUN_TIME.map(filesOf))).flat()]
  await Promise.all(outputs.map(put))
  const paths = new Set(outputs.map(({ path }) => path))
  for (const folder of READ_AT_RUN_TIME)
    for (const name of await readdir(join(TO, folder)))
      if (!paths.has(join(TO, folder, name))) await rm(join(TO, folder, name))
  const made = new Set(outputs.map(({ path }) => relative(TO, path).split(sep)[0]))
  const old = (await readdir(TO)).filter((name) => !made.has(name))
  await Promise.all(old.map((name) => rm(join(TO, name), { recursive: true, force: true })))
}

const madeOf = await fingerprint()
if ((await readFile(MADE_OF, 'utf8').catch(() => '')) !== madeOf) {
  await compile()
  await writeFile(MADE_OF, madeOf)
}
