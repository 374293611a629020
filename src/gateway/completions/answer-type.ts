import type { UpstreamAnswer } from '../../domain/gateway/upstreams/upstream-client.js'
import { badAnswer } from './upstream-failure.js'

/** @throws Failure for an answer that is compressed, or a whole answer to a request for a stream, and the other way round */
export const requireType = ({ headers }: UpstreamAnswer, asked: 'stream' | 'whole'): void => {
  // None was said to be taken.
  if (!/^\s*(identity\s*)?$/i.test(headers['content-encoding'] ?? ''))
    throw badAnswer('it is compressed, which was not requested')
  const isStream = /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '')
  if (isStream && asked === 'whole') throw badAnswer('it is a stream, but no stream was requested')
  if (!isStream && asked === 'stream') throw badAnswer('it is not a stream, but a stream was requested')
}
