import type { ServerDuplexStream } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { Accepted, DoubleLog, Proposal, ProposedEvent } from './log.js'
import { takes, type Misbehaviour } from './misbehaviour.js'
import { Conflict, conflict, type ExpectedOnTheWire, type Refused } from './refusals.js'
import type { Service } from './service.js'
import { identifierOf, nameOf, notLeaderError, proposedOf, statusOf, uuidOf, uuidTo } from './wire.js'

type BatchRequest = streams.BatchAppendReq
type Answer = Accepted | Refused | 'timeout'

/** Stores a proposal as the switches have it; undefined where no answer is to be given. */
const answerTo = (log: DoubleLog, misbehaviour: Misbehaviour, proposal: Proposal): Answer | undefined => {
  if (takes(misbehaviour, 'ignoreAppends')) return undefined
  if (takes(misbehaviour, 'conflicts')) return conflictNow(log, proposal)
  const answer = log.append(proposal)
  if (takes(misbehaviour, 'swallowAnswers')) return undefined
  if (takes(misbehaviour, 'timeouts')) return 'timeout'
  if (takes(misbehaviour, 'conflictThoughStored')) return conflictNow(log, proposal)
  return answer
}

const conflictNow = (log: DoubleLog, { stream, expected }: Proposal): Conflict =>
  conflict(stream, expected, log.read(stream)?.at(-1)?.revision)

const inTime = (misbehaviour: Misbehaviour, answer: () => void): void => {
  if (misbehaviour.answerLateMs === 0) answer()
  else setTimeout(answer, misbehaviour.answerLateMs)
}

const expectationOf = (options: streams.BatchAppendReq.Options): ExpectedOnTheWire => {
  if (options.hasAny()) return 'any'
  if (options.hasNoStream()) return 'no_stream'
  return options.hasStreamExists() ? 'stream_exists' : BigInt(options.getStreamPosition())
}

/** `BatchAppend`: all appends of a connection over one call; an append may come in several messages. */
export const batchAppend =
  (log: DoubleLog, misbehaviour: Misbehaviour, { serve }: Service) =>
  (call: ServerDuplexStream<BatchRequest, streams.BatchAppendResp>): void => {
    const begun = new Map<string, { options: streams.BatchAppendReq.Options; events: ProposedEvent[] }>()
    call.on('data', (request: BatchRequest) => {
      if (misbehaviour.leaderPort !== undefined)
        return void call.emit('error', notLeaderError(misbehaviour.leaderPort))
      const correlation = uuidOf(request.getCorrelationId())
      const options = request.getOptions()
      if (options !== undefined) begun.set(correlation, { options, events: [] })
      const append = begun.get(correlation)
      if (append === undefined) return
      append.events.push(...request.getProposedMessagesList().map(proposedOf))
      if (!request.getIsFinal()) return
      begun.delete(correlation)
      const stream = nameOf(append.options.getStreamIdentifier())
      const expected = expectationOf(append.options)
      serve(() => {
        const answer = answerTo(log, misbehaviour, { stream, expected, events: append.events })
        if (answer === undefined) return
        const response = batchResponse(answer)
        response.setCorrelationId(uuidTo(correlation)).setStreamIdentifier(identifierOf(stream))
        inTime(misbehaviour, () => call.write(response))
      })
    })
    call.on('end', () => call.end())
    call.on('error', () => undefined)
  }

const batchResponse = (answer: Answer): streams.BatchAppendResp => {
  if (answer === 'timeout' || answer instanceof Error)
    return new streams.BatchAppendResp().setError(statusOf(answer))
  const { revision, position } = answer
  const success = new streams.BatchAppendResp.Success().setCurrentRevision(String(revision))
  if (position !== undefined) {
    const at = new shared.AllStreamPosition()
    success.setPosition(at.setCommitPosition(String(position)).setPreparePosition(String(position)))
  }
  return new streams.BatchAppendResp().setSuccess(success)
}
