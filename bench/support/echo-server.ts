import Koa from 'koa'
import getRawBody from 'raw-body'
import { listen } from '../../src/api/server/http-server.js'

/** The baseline: Koa reads a JSON body and answers it. Nothing is checked, nothing is kept. */
const app = new Koa()
app.use(async (ctx) => {
  ctx.body = JSON.parse(await getRawBody(ctx.req, { encoding: 'utf8' })) as unknown
})
const { address } = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
