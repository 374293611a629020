import { randomUUID } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import Koa from 'koa'
import { listen } from '../../src/api/server/http-server.js'

/**
 * The baseline: Koa streams the file of a multipart form into a file of its own, durably. Nothing is checked, no digest
 * is computed, nothing is logged.
 */
const directory = process.env['DIRECTORY']!

const store = async (source: Readable): Promise<void> => {
  const path = join(directory, randomUUID())
  const file = await open(`${path}.incoming`, 'wx')
  for await (const chunk of source) await file.writeFile(chunk as Uint8Array)
  await file.sync()
  await file.close()
  await rename(`${path}.incoming`, path)
  const parent = await open(directory, 'r')
  await parent.sync()
  await parent.close()
}

const app = new Koa()
app.use(async (ctx) => {
  const form = busboy({ headers: ctx.req.headers })
  let stored: Promise<void> | undefined
  form.on('file', (_name: string, file: Readable) => void (stored = store(file)))
  await pipeline(ctx.req, form)
  await stored
  ctx.body = {}
})
const { address } = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
