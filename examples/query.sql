-- Asks a sweep's folder, in it: duckdb < query.sql. One row for each figure of each point, swept keys are columns.

-- What there is.
SELECT part, metric, unit, count(*) AS points FROM 'points/*.parquet' GROUP BY ALL ORDER BY ALL;

-- Delay against utilization, best delay first.
SELECT point, delay.mean AS sojourn_p95_s, delay.ci95, used.mean AS utilization
FROM 'points/*.parquet' AS delay JOIN 'points/*.parquet' AS used USING (point, part, subject)
WHERE part = 'link' AND delay.metric = 'sojourn_s.p95' AND used.metric = 'utilization'
ORDER BY sojourn_p95_s;

-- Slowest flow of each group.
SELECT point, subject AS group_name, min(mean) AS slowest_bit_s
FROM 'points/*.parquet' WHERE part = 'flow' GROUP BY ALL ORDER BY ALL;
