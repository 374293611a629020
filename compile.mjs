import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/** Left alone where it is the same: another process may be reading it. */
const put = async (path, contents) => {
  const before = await readFile(path).catch(() => undefined)
  if (before?.equals(contents)) return
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, contents)
}

/** Makes `dist/src`, which runs, of `src`. Types are checked apart. */
const { outputFiles } = await build({
  entryPoints: ['src/**/*.ts'],
  outdir: 'dist/src',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  write: false,
})
await Promise.all(outputFiles.map(({ path, contents }) => put(path, contents)))
for (const folder of ['src/projections/schema', 'src/prices'])
  for (const name of await readdir(folder))
    await put(join('dist', folder, name), await readFile(join(folder, name)))
