import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const TO = 'dist/src'
const WEB = 'dist/web'
const READ_AT_RUN_TIME = ['prices']

/** Tells sources apart as `make` does, by when each was written, and by its name and size. */
const fingerprint = async (folder) => {
  const sources = (await readdir(folder, { recursive: true })).map((name) => join(folder, name))
  const lines = [...sources, 'compile.mjs', 'package-lock.json', 'tsconfig.json'].sort().map(async (path) => {
    const { size, mtimeMs } = await stat(path)
    return `${path} ${size} ${mtimeMs}`
  })
  return createHash('sha256')
    .update([process.env['TALLYTREE_DEV'] ?? '', ...(await Promise.all(lines))].join('\n'))
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
  const unfinished = join('dist', `${process.pid}-${relative('dist', path).replaceAll(sep, '-')}`)
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
    entryPoints: ['src/main.ts', 'src/cli.ts', 'src/engine/thread.ts', 'src/composition/scoring-thread.ts'],
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

/**
 * Makes `dist/web`, the web interface: files that are named by their content, each compressed too, and `manifest.json`,
 * which names those that a page loads first.
 */
const compilePages = async () => {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    entryPoints: ['web/main.tsx'],
    ...(process.env['TALLYTREE_DEV'] === '1' ? { inject: ['web/reload.ts'] } : {}),
    outdir: WEB,
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    sourcemap: 'linked',
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  const [script, { imports, cssBundle }] = Object.entries(metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint === 'web/main.tsx',
  )
  const manifest = {
    script: basename(script),
    styles: basename(cssBundle),
    imports: imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
  }
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  const files = await Promise.all(
    outputFiles.map(async ({ path: made, contents: bytes }) => {
      const [path, contents] = [join(WEB, basename(made)), Buffer.from(bytes)]
      return [
        { path, contents },
        { path: `${path}.gz`, contents: await promisify(gzip)(contents) },
        { path: `${path}.br`, contents: await promisify(brotliCompress)(contents, brotli) },
      ]
    }),
  )
  await Promise.all(files.flat().map(put))
  await put({ path: join(WEB, 'manifest.json'), contents: Buffer.from(JSON.stringify(manifest)) })
  const kept = new Set(['manifest.json', ...files.flat().map(({ path }) => basename(path))])
  for (const name of await readdir(WEB)) if (!kept.has(name)) await rm(join(WEB, name))
}

/** Runs `make` where the sources have changed since the last time. */
const update = async (folder, to, make) => {
  const note = join(to, 'made-of')
  const madeOf = await fingerprint(folder)
  if ((await readFile(note, 'utf8').catch(() => '')) === madeOf) return
  await make()
  await writeFile(note, madeOf)
}

/** The packages of the pages are for development only: what is shipped has `dist/web`. */
const hasPackagesOfPages = () => {
  try {
    createRequire(import.meta.url).resolve('react')
    return true
  } catch {
    return false
  }
}

await update('src', TO, compile)
if (hasPackagesOfPages())
  await update('web', WEB, async () => {
    const start = performance.now()
    process.stdout.write('Building the pages … ')
    await compilePages()
    process.stdout.write(`done in ${((performance.now() - start) / 1000).toFixed(1)} s\n`)
  })
else if ((await stat(join(WEB, 'manifest.json')).catch(() => undefined)) === undefined)
  process.stdout.write('The pages are not built: run npm ci with development packages to get them.\n')
