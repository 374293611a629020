/**
 * Asks a model through the gateway from inside ops of the tracing SDK, with the client as it is on npm: wrapped by the SDK,
 * which then records each completion as well, and as it is. Prints the ids of the two outermost calls.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node completing.mjs <entity>/<project> <base URL> <model>
 */
import OpenAI from 'openai'
import * as weave from 'weave'

const [project, baseURL, model] = process.argv.slice(2)
const client = await weave.init(project)

/** Tells the gateway which call of the SDK asks; its start may not have been sent yet. */
const fetchInTrace = (url, init) => {
  const headers = new Headers(init.headers)
  const { callId, traceId } = weave.requireCurrentCallStackEntry()
  headers.set('Tallytree-Parent-Call', callId)
  headers.set('Tallytree-Trace', traceId)
  return fetch(url, { ...init, headers })
}

const openai = () => new OpenAI({ baseURL, apiKey: process.env.WANDB_API_KEY, project, fetch: fetchInTrace })

const asking = (name, completing) =>
  weave.op(
    async () => {
      const request = { model, messages: [{ role: 'user', content: 'Say hello' }] }
      await completing.chat.completions.create(request)
      let said = ''
      for await (const chunk of await completing.chat.completions.create({ ...request, stream: true }))
        said += chunk.choices[0]?.delta.content ?? ''
      return said
    },
    { name },
  )

const wrapped = asking('wrapped', weave.wrapOpenAI(openai()))
const plain = asking('plain', openai())

const root = (name, ask) =>
  weave.op(async () => ({ said: await ask(), id: weave.requireCurrentCallStackEntry().callId }), { name })

const answers = { wrapped: await root('wrappedRoot', wrapped)(), plain: await root('plainRoot', plain)() }
await client.waitForBatchProcessing()
process.stdout.write(`${JSON.stringify(answers)}\n`)
