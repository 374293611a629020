import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Koa from 'koa'
import getRawBody from 'raw-body'
import { listen } from '../../src/api/server/http-server.js'

/**
 * The baseline: POST parses the body, writes it to a file and syncs that; GET answers the rows that came last from memory,
 * as JSON. Nothing is checked.
 */
let rows: readonly unknown[] = []
let files = 0

const app = new Koa()
app.use(async (ctx) => {
  if (ctx.method === 'GET') {
    ctx.body = { rows: rows.map((val, original_index) => ({ val, original_index })) }
    return
  }
  const text = await getRawBody(ctx.req, { encoding: 'utf8', limit: '64mb' })
  ;({ rows } = (JSON.parse(text) as { table: { rows: readonly unknown[] } }).table)
  const file = await open(join(process.env['DATA_DIR']!, `naive-${files++}`), 'w')
  await file.writeFile(text)
  await file.sync()
  await file.close()
  ctx.body = { rows: rows.length }
})
const { address } = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
