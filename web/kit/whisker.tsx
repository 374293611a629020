/** A mean with its interval on a scale that all rows of a table share; the line is zero. */
export const Whisker = ({
  mean,
  low,
  high,
  scale: [from, to],
  text,
  isLowerBetter = false,
}: {
  readonly mean: number
  readonly low: number
  readonly high: number
  readonly scale: readonly [from: number, to: number]
  /** What it says in words. */
  readonly text: string
  readonly isLowerBetter?: boolean
}) => {
  const at = (value: number) => `${(100 * (value - from)) / (to - from || 1)}%`
  const sign = low > 0 ? 1 : high < 0 ? -1 : 0
  const tone = sign === 0 ? 'var(--text-2)' : sign > 0 === isLowerBetter ? 'var(--danger)' : 'var(--ok)'
  return (
    <svg className="whisker" role="img" aria-label={text}>
      <title>{text}</title>
      {from <= 0 && to >= 0 && <line x1={at(0)} x2={at(0)} y1="0" y2="20" stroke="var(--control)" />}
      <line x1={at(low)} x2={at(high)} y1="10" y2="10" stroke={tone} strokeWidth="2" />
      <line x1={at(low)} x2={at(low)} y1="6" y2="14" stroke={tone} strokeWidth="2" />
      <line x1={at(high)} x2={at(high)} y1="6" y2="14" stroke={tone} strokeWidth="2" />
      <circle cx={at(mean)} cy="10" r="4" fill={tone} />
    </svg>
  )
}
