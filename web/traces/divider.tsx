interface DividerProps {
  readonly label: string
  readonly className?: string
  /** Where it is in its parent. */
  readonly percent: number
  readonly usual: number
  readonly from: number
  readonly to: number
  readonly onPercent: (percent: number) => void
}

/** Between two columns: dragged, or moved with the arrow keys. A double click takes it back. */
export const Divider = ({ label, className = '', percent, usual, from, to, onPercent }: DividerProps) => {
  const set = (next: number) => onPercent(Math.round(Math.min(to, Math.max(from, next))))
  return (
    <div
      className={`divider ${className}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={from}
      aria-valuemax={to}
      aria-valuenow={percent}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
        const { left, width } = event.currentTarget.parentElement!.getBoundingClientRect()
        set(((event.clientX - left) / width) * 100)
      }}
      onDoubleClick={() => set(usual)}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') set(percent - 5)
        if (key === 'ArrowRight') set(percent + 5)
      }}
    />
  )
}
