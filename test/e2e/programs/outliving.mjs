/**
 * Calls that end after their parents, which have then been told already: a streamed chat completion that an op hands
 * on, and work that nobody waits for.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node outliving.mjs <entity>/<project>
 */
import { setTimeout as sleep } from 'node:timers/promises'
import * as weave from 'weave'

const client = await weave.init(process.argv[2])

async function* chunks() {
  for (const content of ['Be', 'cause.'])
    yield { id: 'chat-1', model: 'chatty', choices: [{ delta: { role: 'assistant', content } }] }
  const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
  yield { id: 'chat-1', model: 'chatty', choices: [], usage }
}

/** Has the shape of an OpenAI client, which the SDK wraps. */
const { chat } = weave.wrapOpenAI({
  chat: { completions: { create: async () => chunks() } },
  images: {},
  beta: {},
})

const open = weave.op(
  async (question) => {
    const messages = [{ role: 'user', content: question }]
    return chat.completions.create({ model: 'chatty', stream: true, messages })
  },
  { name: 'open', parameterNames: ['question'] },
)

const tell = weave.op(
  async (question) => {
    let text = ''
    for await (const { choices } of await open(question)) text += choices[0]?.delta.content ?? ''
    return text
  },
  { name: 'tell', parameterNames: ['question'] },
)

let answered
const whenAnswered = new Promise((resolve) => (answered = resolve))

const remember = weave.op(
  async () => {
    await whenAnswered
    return { model: 'embedder', usage: { prompt_tokens: 5 } }
  },
  { name: 'remember', summarize: ({ model, usage }) => ({ usage: { [model]: usage } }) },
)

let remembering
const answer = weave.op(
  async (question) => {
    remembering = remember()
    return tell(question)
  },
  { name: 'answer', parameterNames: ['question'] },
)

await answer('Why?')
await sleep(10)
answered()
await remembering
await client.waitForBatchProcessing()
