import { useState } from 'react'
import { opName, wholeNumber } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { toneOfCall } from '../kit/status.js'
import { conjunctsIn, FIELD_LABELS, filterText, MODEL, operandOf } from './filter.js'
import { useSummary, type Summary } from './use-summary.js'

export const FACETS = [
  'summary.weave.status',
  'op_name',
  MODEL,
  'end_user',
  'environment',
  'thread_id',
] as const

const MORE = 100

/** The values that most calls of the list have. A click filters by one, another click takes the filter away. */
export const Facets = ({ summary }: { readonly summary: Summary | undefined }) => (
  <aside className="facets" aria-label="Values in the list">
    {summary?.facets.map((facet) => (
      <Facet key={facet.field} facet={facet} calls={summary.calls} />
    ))}
  </aside>
)

interface FacetProps {
  readonly facet: Summary['facets'][number]
  /** In the list. */
  readonly calls: number
}

const SHOWN = 8
const VALUE_PX = 24

const Facet = ({ facet, calls }: FacetProps) => {
  const { field } = facet
  const [isWhole, setWhole] = useState(false)
  const whole = useSummary({ fields: [field], limit: MORE, isEnabled: isWhole })
  const shown = isWhole ? (whole.data?.facets[0] ?? facet) : facet
  const values = shown.values ?? []
  // Fewer values leave what is below them where it is.
  const [most, setMost] = useState(1)
  if (values.length > most) setMost(values.length)
  const label = FIELD_LABELS[field] ?? field
  return (
    <section>
      <h2>{label}</h2>
      {shown.of < calls && <p className="secondary">of the newest {wholeNumber(shown.of)}</p>}
      <ul style={{ minHeight: most * VALUE_PX }}>
        {values.length === 0 && (
          <li className="secondary">{shown.values === null ? 'Too many to count.' : 'No call has one.'}</li>
        )}
        {values.map(({ value, calls: count }) => (
          <li key={value}>
            <Value field={field} value={value} count={count} />
          </li>
        ))}
      </ul>
      {!isWhole && values.length >= SHOWN && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          more<span className="visually-hidden"> values of {label}</span>
        </button>
      )}
    </section>
  )
}

const Value = ({
  field,
  value,
  count,
}: {
  readonly field: string
  readonly value: string
  readonly count: number
}) => {
  const [{ filter }, setAddress] = useAddress()
  const conjuncts = conjunctsIn(filter)
  const operand = operandOf({ field, operator: 'equals', value })
  const text = JSON.stringify(operand)
  const isOn = conjuncts.some((one) => JSON.stringify(one) === text)
  const shown =
    field === 'op_name' ? opName(value) : field === 'summary.weave.status' ? toneOfCall(value)[1] : value
  return (
    <button
      type="button"
      aria-pressed={isOn}
      title={value}
      onClick={() =>
        setAddress({
          filter: filterText(
            isOn ? conjuncts.filter((one) => JSON.stringify(one) !== text) : [...conjuncts, operand],
          ),
        })
      }
    >
      <span>{shown}</span> <b>{wholeNumber(count)}</b>
    </button>
  )
}
