import { cp } from 'node:fs/promises'
import { build } from 'esbuild'

/** Makes `dist/src`, which runs, of `src`. Types are checked apart. */
await build({
  entryPoints: ['src/**/*.ts'],
  outdir: 'dist/src',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
})
for (const read of ['projections/schema', 'prices'])
  await cp(`src/${read}`, `dist/src/${read}`, { recursive: true })
