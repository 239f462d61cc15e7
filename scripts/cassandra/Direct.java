// Updates and reads of records in Cassandra by its authors' driver, one call after the other, as an application has them: beside this loop
// storebench is held (scripts/pairs-cassandra-driver.sh). Each line of its input, `OPERATIONS`, is answered by updates and reads per second.
//
// usage: java -cp 'LIB/*' Direct.java PORT RECORDS BYTES

import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.Session;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;

public class Direct {
    private static final Random RANDOM = new Random(1);

    private static ByteBuffer key(long number) {
        return ByteBuffer.wrap(String.format("%016d", number).getBytes());
    }

    private static ByteBuffer value(int bytes) {
        byte[] value = new byte[bytes];
        RANDOM.nextBytes(value);
        return ByteBuffer.wrap(value);
    }

    private interface Call {
        void of(ByteBuffer key);
    }

    /** So many calls in a second. */
    private static double rate(int operations, int records, Call call) {
        long start = System.nanoTime();
        for (int done = 0; done < operations; done++) {
            call.of(key(RANDOM.nextInt(records)));
        }
        return operations * 1e9 / (System.nanoTime() - start);
    }

    public static void main(String[] given) throws Exception {
        int records = Integer.parseInt(given[1]);
        int bytes = Integer.parseInt(given[2]);
        InetSocketAddress at = new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0]));
        try (Cluster cluster = Cluster.builder().addContactPointsWithPorts(at).withProtocolVersion(ProtocolVersion.V4)
                        .withoutJMXReporting().withoutMetrics().build();
                Session session = cluster.connect()) {
            session.execute("CREATE KEYSPACE IF NOT EXISTS direct WITH replication = "
                    + "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}");
            session.execute("CREATE TABLE IF NOT EXISTS direct.records (key blob PRIMARY KEY, value blob) "
                    + "WITH compression = {'enabled': 'false'}");
            PreparedStatement put = session.prepare("INSERT INTO direct.records (key, value) VALUES (?, ?)");
            PreparedStatement get = session.prepare("SELECT value FROM direct.records WHERE key = ?");
            for (int number = 0; number < records; number++) {
                session.execute(put.bind(key(number), value(bytes)));
            }
            BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
            System.out.println("ready");
            for (String line = asked.readLine(); line != null; line = asked.readLine()) {
                int operations = Integer.parseInt(line.trim());
                double updates = rate(operations, records, key -> session.execute(put.bind(key, value(bytes))));
                double reads = rate(operations, records, key -> {
                    BoundStatement bound = get.bind(key);
                    if (session.execute(bound).one().getBytes(0).remaining() != bytes) {
                        throw new IllegalStateException("a value is not as long as it was written");
                    }
                });
                System.out.printf("%.1f %.1f%n", updates, reads);
            }
        }
    }
}
