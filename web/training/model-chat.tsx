import { Button, Select, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { ActionFailed } from '../kit/states.js'

const MAX_TOKENS = 256

/** The text of the first answer. */
const answerIn = (completion: unknown): string => {
  const { choices } = completion as {
    readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[]
  }
  return choices?.[0]?.message?.content ?? ''
}

/** Sends a message to the base model or to a checkpoint, as programs do. The completion is recorded and metered. */
export const ModelChat = ({
  projectId,
  name,
  baseModel,
  steps,
}: {
  readonly projectId: string
  readonly name: string
  readonly baseModel: string
  /** Newest first. */
  readonly steps: readonly number[]
}) => {
  const [chosen, setChosen] = useState<string | null>(null)
  const [content, setContent] = useState('')
  const newest = steps[0]
  const model =
    chosen ?? (newest === undefined ? baseModel : `wandb-artifact:///${projectId}/${name}:step${newest}`)
  const ask = useMutation({
    mutationFn: () =>
      dataOf<unknown>(
        api.POST('/v1/chat/completions', {
          body: { model, messages: [{ role: 'user', content }], max_tokens: MAX_TOKENS },
          headers: { 'OpenAI-Project': projectId },
        }),
      ),
  })
  return (
    <form
      className="form"
      aria-label="Chat"
      onSubmit={(event) => {
        event.preventDefault()
        if (content !== '') ask.mutate()
      }}
    >
      <Select
        label="Model"
        allowDeselect={false}
        value={model}
        data={[
          ...steps.map((step) => ({
            value: `wandb-artifact:///${projectId}/${name}:step${step}`,
            label: `Step ${step}`,
          })),
          { value: baseModel, label: `Base model ${baseModel}` },
        ]}
        onChange={(value) => {
          setChosen(value)
          ask.reset()
        }}
      />
      <Textarea
        label="Message"
        rows={3}
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" loading={ask.isPending} disabled={content === ''}>
          Send
        </Button>
      </div>
      <ActionFailed error={ask.error} what="The completion" />
      {ask.isSuccess && (
        <article className="message" aria-live="polite">
          <header>assistant</header>
          <div>
            <div
              className="message-text"
              dir="auto"
              style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
            >
              {answerIn(ask.data) || <span className="secondary">The answer is empty.</span>}
            </div>
          </div>
        </article>
      )}
    </form>
  )
}
