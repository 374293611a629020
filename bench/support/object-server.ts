import Koa from 'koa'
import getRawBody from 'raw-body'
import { listen } from '../../src/api/server/http-server.js'
import { answerLike, OBJECTS, objectName } from './objects.js'

/** The baseline: Koa reads a JSON body and answers what a Map holds under the name in it. */
const answers = new Map(Array.from({ length: OBJECTS }, (_, i) => [objectName(i), answerLike(i)]))
const app = new Koa()
app.use(async (ctx) => {
  const asked = JSON.parse(await getRawBody(ctx.req, { encoding: 'utf8' })) as { object_id: string }
  ctx.type = 'application/json; charset=utf-8'
  ctx.body = answers.get(asked.object_id)
})
const { address } = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
