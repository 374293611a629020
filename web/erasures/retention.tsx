import { Checkbox, NumberInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { problemAt } from '../kit/form-errors.js'
import { plural, shortNumber } from '../kit/format.js'
import { Failed } from '../kit/states.js'
import { Time } from '../kit/time.js'

type Retention = Schemas['RetentionResponse']

const EXCEPTIONS: readonly (readonly [value: Retention['except'][number], label: string])[] = [
  ['with_feedback', 'with feedback'],
  ['in_datasets', 'that a row of a dataset names'],
  ['in_annotation_queues', 'in annotation queues'],
  ['in_evaluations', 'of evaluation runs'],
]

interface RetentionProps {
  readonly path: { readonly entity: string; readonly project: string }
  readonly retention: Retention
  readonly onChange: (retention: Retention) => void
  readonly isAllowed: boolean
  readonly error: Error | null
}

/** After how many days content is erased, of which calls it is not, and what that would erase now. */
export const RetentionFields = ({ path, retention, onChange, isAllowed, error }: RetentionProps) => (
  <>
    <NumberInput
      label="Days after which content is erased"
      description={
        isAllowed
          ? '0 for never. Inputs, outputs and attributes of older calls are erased for ever; usage and costs stay.'
          : '0 for never. It needs the role team_administrator.'
      }
      disabled={!isAllowed}
      min={0}
      allowDecimal={false}
      value={retention.content_days}
      error={problemAt(error, 'retention', 'content_days')}
      onChange={(value) => onChange({ ...retention, content_days: Number(value) })}
    />
    <NumberInput
      label="Days after which calls are erased with their figures"
      description="0 for never, else at least as many as for content. Usage and costs of these days are then incomplete."
      disabled={!isAllowed}
      min={0}
      allowDecimal={false}
      value={retention.figures_days}
      error={problemAt(error, 'retention', 'figures_days')}
      onChange={(value) => onChange({ ...retention, figures_days: Number(value) })}
    />
    {retention.content_days + retention.figures_days > 0 && (
      <>
        <Checkbox.Group
          label="Keep calls"
          value={[...retention.except]}
          onChange={(except) => onChange({ ...retention, except })}
        >
          {EXCEPTIONS.map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} disabled={!isAllowed} mt={8} />
          ))}
        </Checkbox.Group>
        {isAllowed && retention.content_days > 0 && <Preview path={path} retention={retention} />}
      </>
    )}
  </>
)

const DAY_MS = 86_400_000

const Preview = ({ path, retention }: Pick<RetentionProps, 'path' | 'retention'>) => {
  const [{ content_days, except }] = useDebouncedValue(retention, 300)
  const preview = useQuery({
    queryKey: ['erasure preview', path, content_days, except],
    queryFn: ({ signal }) => {
      const before = new Date(Date.now() - content_days * DAY_MS).toISOString()
      return dataOf(
        api.POST('/api/projects/{entity}/{project}/erasures', {
          params: { path },
          body: {
            selection: {
              query: { $expr: { $lt: [{ $getField: 'started_at' }, { $literal: before }] } },
              except: ['erased', ...except],
            },
            reason: 'preview',
            dry_run: true,
          },
          signal,
        }),
      )
    },
  })
  if (preview.isError) return <Failed error={preview.error} what="The preview" />
  const found = preview.data?.preview
  if (!found) return null
  return (
    <p role="status" style={{ margin: 0 }}>
      {found.calls === 0 ? (
        'No call is that old now.'
      ) : (
        <>
          Now that is the content of {plural(found.calls, 'call')}: {shortNumber(found.bytes)} bytes
          {found.oldest !== null && (
            <>
              , the oldest of <Time at={found.oldest} />
            </>
          )}
          .
        </>
      )}
    </p>
  )
}
