import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Send } from './evaluation.js'

const TEXT = 'You can change the billing address under Settings.'

/** A server of models that answers every chat with the same text. */
export const startModels = async (): Promise<{ readonly url: string; readonly server: Server }> => {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (request.url === '/v1/models')
        return response.end('{"object": "list", "data": [{"id": "assistant"}]}')
      const usage = { prompt_tokens: 820, completion_tokens: 60, total_tokens: 880 }
      const message = { role: 'assistant', content: TEXT }
      const answer = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'assistant', usage }
      return response.end(
        JSON.stringify({ ...answer, choices: [{ index: 0, message, finish_reason: 'stop' }] }),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, server }
}

/** An upstream with a price, limits of which one is nearly reached, and completions that count in them. */
export const demoGateway = async (
  project: string,
  url: string,
  send: Send,
  completions = 12,
): Promise<void> => {
  const [team, name] = project.split('/') as [string, string]
  await send('POST', '/api/inference/upstreams', {
    name: 'our servers',
    team,
    base_url: url,
    models: [
      {
        id: `${team}/assistant`,
        upstream_id: 'assistant',
        price: { prompt_token_cost: '0.0000006', completion_token_cost: '0.0000024' },
      },
    ],
  })
  const limit = (body: object) => send('PUT', `/api/teams/${team}/limits`, body)
  await limit({ scope: { type: 'team' }, requests_per_minute: 600, budget: { amount: 100, period: 'month' } })
  await limit({ scope: { type: 'project', project: name }, budget: { amount: 0.01, period: 'day' } })
  const body = {
    model: `${team}/assistant`,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'How do I change the billing address of my account?' }],
  }
  for (let n = 0; n < completions; n += 1)
    await send('POST', '/v1/chat/completions', body, { 'openai-project': project })
}
