import { Button, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { LongText } from '../kit/long-text.js'
import { Name } from '../kit/marked.js'
import { usePlace } from '../kit/place.js'
import { Failed, messageOf, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { onSubmit } from '../kit/on-submit.js'

interface Item {
  readonly id: string
  readonly feedback_type: string
  readonly creator: string | null
  readonly wb_user_id?: string | null
  readonly created_at: string
  readonly payload: unknown
}

const REACTIONS = ['👍', '👎'] as const

/** Feedback on a call: reactions and notes of people, and what programs wrote. */
export const Feedback = ({ callId }: { readonly callId: string }) => {
  const { projectId } = usePlace()
  const queries = useQueryClient()
  const [note, setNote] = useState('')
  const ref = `weave:///${projectId}/call/${callId}`
  const key = ['feedback', projectId, callId]
  const feedback = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: ref }] } }
      const { result } = await dataOf(
        api.POST('/feedback/query', { body: { project_id: projectId, query }, signal }),
      )
      return result as unknown as readonly Item[]
    },
  })
  const give = useMutation({
    mutationFn: ({ type, payload }: { type: string; payload: Readonly<Record<string, unknown>> }) =>
      dataOf(
        api.POST('/feedback/create', {
          body: { project_id: projectId, weave_ref: ref, feedback_type: type, payload },
        }),
      ),
    onSuccess: () => {
      setNote('')
      void queries.invalidateQueries({ queryKey: key })
    },
  })
  const submit = onSubmit(() => {
    if (note.trim() !== '') give.mutate({ type: 'wandb.note.1', payload: { note: note.trim() } })
  })
  return (
    <div className="page" style={{ padding: 0 }}>
      {feedback.isError && (
        <Failed error={feedback.error} what="Feedback" onRetry={() => void feedback.refetch()} />
      )}
      {feedback.isPending && <Loading what="feedback" />}
      {feedback.data?.map((item) => (
        <article className="message" key={item.id}>
          <header>
            <Name text={item.creator ?? item.wb_user_id ?? 'unknown'} />{' '}
            <span className="secondary">
              <Name text={item.feedback_type} />
            </span>
            <span className="spacer" />
            <Time at={item.created_at} />
          </header>
          <div dir="auto">
            <LongText text={shown(item.payload)} />
          </div>
        </article>
      ))}
      {feedback.data?.length === 0 && <div className="secondary">No feedback yet.</div>}
      <div className="bar">
        {REACTIONS.map((emoji) => (
          <Button
            key={emoji}
            size="compact-sm"
            variant="default"
            aria-label={emoji === '👍' ? 'Thumbs up' : 'Thumbs down'}
            onClick={() => give.mutate({ type: 'wandb.reaction.1', payload: { emoji } })}
          >
            {emoji}
          </Button>
        ))}
      </div>
      <form className="form" onSubmit={submit}>
        <Textarea
          label="Note"
          autosize
          minRows={2}
          value={note}
          error={give.error === null ? undefined : messageOf(give.error)}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" size="xs" loading={give.isPending}>
            Add the note
          </Button>
        </div>
      </form>
    </div>
  )
}

const shown = (payload: unknown): string => {
  if (typeof payload !== 'object' || payload === null) return String(payload)
  const { note, emoji } = payload as { note?: unknown; emoji?: unknown }
  if (typeof note === 'string') return note
  return typeof emoji === 'string' ? emoji : JSON.stringify(payload, null, 2)
}
