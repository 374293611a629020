#!/usr/bin/env node
// Registers the scripted upstream: under MODEL_PREFIX with all APIs, and under TRANSLATE_PREFIX with chat completions only.
const { GATEWAY_URL, GATEWAY_KEY, GATEWAY_PROJECT, MODEL_PREFIX, TRANSLATE_PREFIX, STUB_URL } = process.env
const NAMES =
  'stub-text stub-tool stub-tools2 stub-agent stub-reason stub-cached stub-cut stub-refuse stub-json stub-400 stub-401 stub-404 stub-429 stub-500 stub-529 stub-flaky stub-mid stub-drop stub-slow stub-fail stub-unknown-events stub-embed'
const models = (process.env.MODELS ?? NAMES).split(' ')
const team = GATEWAY_PROJECT.split('/')[0]

const send = async (method, path, body) => {
  const answer = await fetch(GATEWAY_URL + path, {
    method,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.ok || answer.status === 409) return
  throw new Error(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 500)}`)
}

const register = (name, prefix, apis) =>
  send('POST', '/api/inference/upstreams', {
    ...{ team, name, apis, secret: 'STUB_KEY', base_url: `${STUB_URL}/v1` },
    models: models.map((id) => ({ id: prefix + id, upstream_id: id })),
  })

await send('POST', '/api/teams', { name: team })
await send('PUT', `/api/teams/${team}/secrets/STUB_KEY`, { value: 'upstream-key' })
const others = ['responses', 'messages', 'embeddings', 'completions', 'moderations', 'rerank']
await register('stub', MODEL_PREFIX, ['chat', ...others])
await register('chat-only', TRANSLATE_PREFIX, ['chat'])
